"""System files made of lines — crontabs, hosts, fstab, aliases — read into values and written back."""
