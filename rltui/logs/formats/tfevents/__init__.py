"""TensorBoard event files, read without TensorFlow and without generated protobuf code.

A file is a sequence of records (`tf_record`); a record is one Event message (`message`); nearly every event
has one scalar of one tag. The records of a tag differ only in wall time, step and value (`templates`). So few
records are decoded singly by comparing their bytes (`record_decoder`, which parses unknown ones), and many at
once as numpy columns (`bulk`), with identical results. `event_file` is the `LogReader`; it continues after
torn or damaged records (`torn_and_damaged`) and very long ones (`oversized_record`).
"""
