"""TensorBoard event files, read without TensorFlow and without generated protobuf code.

A file is a row of records (`framing`); a record is one Event message (`message`); nearly every event holds
one scalar of one tag. Records of a tag differ in wall time, step and value only (`templates`), so few records
are read one by one by comparing their bytes (`record_decoder`, which parses what it does not know), and many
at once as numpy columns (`bulk`). Both give the same scalars to the bit. `event_file` joins them into a
`LogReader` and goes on behind what is torn or damaged (`torn_and_damaged`) and very long records
(`oversized_record`).
"""
