owner: The database team
database:
  password: not-a-real-one
