#!json
{
  "from-json": {
    "test.nop": []
  }
}
