import sys

from pcbench.commands import main

sys.exit(main())
