"""The commands of the command line, a file each; what they run is imported when they run."""
