"""The interactive preview: a session, its render thread, and its window."""
