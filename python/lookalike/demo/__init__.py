"""The demo and the material it runs on."""
