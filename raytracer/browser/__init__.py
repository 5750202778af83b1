"""The interactive view in a browser and in a notebook: server, page, widget."""
