"""Accuracy and speed, measured."""
