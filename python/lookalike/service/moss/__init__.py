"""The protocol of the MOSS submission script: existing scripts and plug-ins work against this service."""
