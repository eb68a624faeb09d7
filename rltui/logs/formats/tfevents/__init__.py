"""TensorBoard event files, read without TensorFlow and without generated protobuf code.

A file is a row of records (TFRecord framing); a record is one Event message; nearly every event holds one
scalar of one tag.
"""
