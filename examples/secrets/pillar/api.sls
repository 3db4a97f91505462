api_token: sdb://store/api:token
