"""One module for each command; a command imports what it runs when it is called."""
