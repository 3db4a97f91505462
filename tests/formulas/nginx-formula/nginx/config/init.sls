include:
  - .file
  - .snippets
