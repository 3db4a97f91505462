// The link of `saltern console`: sign in without another click.
document.getElementById("link")?.requestSubmit();
