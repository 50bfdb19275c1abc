"""`python -m isotok` is the command `isotok`."""

from isotok.cli import main

if __name__ == "__main__":
    main()
