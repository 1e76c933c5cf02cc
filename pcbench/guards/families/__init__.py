"""Guard families: a public function a kind of guard, which gives a function with n of them.

``n`` more is at least ``n`` more guards in the census: the slope over n is what one of them costs, and it does not care
what else the machine does. The modules only order them.
"""
