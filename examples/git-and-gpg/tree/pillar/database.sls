#!jinja|yaml|gpg
database:
  user: reporting
  password: |
    -----BEGIN PGP MESSAGE-----
    
    hF4Djr96NWMvn0QSAQdAcoFJ5RR+nhCrgBfRj9N1lGrem7b9q5EdFYgIKw+R7Ggw
    2hAEznK62sQMNZQoKuZf4JYnAKcrVBWyagnOGvDL1kPABnfbnO1kRz3Co23LI8W5
    0lABxnvoo5uFoq7Pb+PxDhY5lgGpdIsVIUqqUUx2yHfk69uS1KAWGxgX4iSfatWS
    8swSAiqb+feUHC1k3dil55EnMjGiTJ6EUInqIrMD9XRskg==
    =ojFF
    -----END PGP MESSAGE-----
