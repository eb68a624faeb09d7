"""Records as protobuf messages: the content of an Event."""
