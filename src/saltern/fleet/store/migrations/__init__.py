"""The steps from one schema to the next, numbered; a step that was released is never changed."""
