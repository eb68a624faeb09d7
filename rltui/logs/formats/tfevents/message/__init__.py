"""One record as a protobuf message: what an Event holds."""
