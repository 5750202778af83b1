"""A scene on a device to films and pictures: single, moving, blurred, measured."""
