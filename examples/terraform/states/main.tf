variable "word" {}

variable "password" {
  sensitive = true
}

resource "terraform_data" "page" {
  input = var.word
}

resource "terraform_data" "account" {
  input      = { name = "shop", password = var.password }
  depends_on = [terraform_data.page]
}

resource "terraform_data" "reload" {
  triggers_replace = [terraform_data.page.output]
  depends_on       = [terraform_data.account]

  provisioner "local-exec" {
    command = "true"
  }
}

output "page" {
  value = terraform_data.page.output
}
