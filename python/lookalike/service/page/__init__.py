"""The page of the service: compare a class, ask the archive, look after its documents, see what runs."""
