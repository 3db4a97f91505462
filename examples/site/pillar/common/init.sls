owner: The platform team
