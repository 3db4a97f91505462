"""Rendering on the controller: files and delayed blocks whose text no agent gets."""
