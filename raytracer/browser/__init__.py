"""The interactive view in a browser and in a notebook: a server, a page, a widget."""
