"""The interactive preview: a view one turns, a thread that renders it, a window that shows it."""
