"""`tclint server`: diagnostics, quick fixes and pages in an editor, over the Language Server Protocol.

`session` lints what the editor holds and knows no protocol; `wording` turns findings into what an editor shows; `language`
speaks the protocol, with pygls; `command` is the sub-command.
"""
