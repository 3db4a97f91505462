"""All functions of ``archive``, wherever they are."""

from saltern.modules.functions.archive.pack import cmd_zip as cmd_zip
from saltern.modules.functions.archive.pack import gunzip as gunzip
from saltern.modules.functions.archive.pack import gzip as gzip
from saltern.modules.functions.archive.pack import zip_ as zip_
from saltern.modules.functions.archive.query import is_encrypted as is_encrypted
from saltern.modules.functions.archive.query import list_ as list_
from saltern.modules.functions.archive.unpack import cmd_unzip as cmd_unzip
from saltern.modules.functions.archive.unpack import tar as tar
from saltern.modules.functions.archive.unpack import unrar as unrar
from saltern.modules.functions.archive.unpack import unzip as unzip
