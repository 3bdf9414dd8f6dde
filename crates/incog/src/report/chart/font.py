#!/usr/bin/env python3
"""Makes font.bin, the letters of charts as PNG: DejaVu Sans at 26 pixels, in 16 shades of grey.

    python3 font.py /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf > font.bin      (needs Pillow)

The file is compressed (zlib): for each letter from space to tilde its width, then its rows of 34 pixels' height, two pixels a byte.
DejaVu fonts are free to embed (Bitstream Vera licence); see https://dejavu-fonts.github.io/License.html.
"""
import sys
import zlib

from PIL import Image, ImageDraw, ImageFont

SIZE, HEIGHT = 26, 34
font = ImageFont.truetype(sys.argv[1], SIZE)
out = bytearray()
for code in range(32, 127):
    width = round(font.getlength(chr(code)))
    image = Image.new("L", (width + width % 2, HEIGHT), 0)
    ImageDraw.Draw(image).text((0, 0), chr(code), fill=255, font=font)
    out.append(width)
    shades = [pixel >> 4 for pixel in image.tobytes()]
    out += bytes(shades[at] << 4 | shades[at + 1] for at in range(0, len(shades), 2))
sys.stdout.buffer.write(zlib.compress(bytes(out), 9))
