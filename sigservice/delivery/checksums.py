"""The CRC-32 of joined texts, calculated from the CRC of each text. Reading a large document to
calculate it takes longer than all other work of a change."""

_POLYNOMIAL = 0xEDB88320  # of gzip, with its bits reversed, as all numbers here
_ONE = 1 << 31


def combine(first: int, second: int, shift: int) -> int:
    """The CRC of two joined texts. `shift` belongs to the length of the second text."""
    return _multiply(shift, first) ^ second


def find_shift(length: int) -> int:
    """The factor that moves a CRC by this number of bytes: x to the power of the number of bits."""
    shift, bit = _ONE, 3  # a byte has 2**3 bits
    while length:
        if length & 1:
            shift = _multiply(_POWERS[bit], shift)
        length >>= 1
        bit += 1
    return shift


def _multiply(a: int, b: int) -> int:
    """The product of two polynomials modulo the polynomial of the CRC."""
    product = 0
    while a:
        if a & _ONE:
            product ^= b
        a = a << 1 & 0xFFFFFFFF
        b = b >> 1 ^ _POLYNOMIAL if b & 1 else b >> 1
    return product


def _list_powers() -> list[int]:
    """x to the powers of two."""
    powers = [_ONE >> 1]
    for _ in range(63):
        powers.append(_multiply(powers[-1], powers[-1]))
    return powers


_POWERS = _list_powers()
