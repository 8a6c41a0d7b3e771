% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Signal endpoints</h1>
% if not limit_text:
<a class="button" href="{{url('/admin/signals/new')}}">New signal endpoint</a>
% end
</div>
% if limit_text:
<p class="hint">{{limit_text}}</p>
% end
% if not endpoints:
<p class="empty">No signal endpoints yet. Each external system calls one of its own, whose page shows how to configure the sender.</p>
% else:
% include("partials/table.tpl")
% end
<p><a href="{{url('/admin/signals/refused')}}">Refused calls of unknown endpoints</a></p>
