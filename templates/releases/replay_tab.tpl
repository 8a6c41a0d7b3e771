% rebase("layout.tpl", title=title, live=False)
% include("releases/heading.tpl")
% include("partials/problems.tpl")
% include("releases/replay.tpl", replay=replay, action="")
