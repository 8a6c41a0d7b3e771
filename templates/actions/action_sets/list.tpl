% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Automation</h1>
% if new_path and table.rows:
<a class="button" href="{{url(new_path)}}">Protect a flag</a>
% end
</div>
% if limit_text:
<p class="hint">{{limit_text}}</p>
% end
% if not table.rows:
<section class="empty">
<p>No automation yet. When an alert fires, it turns a flag off within milliseconds, and back on when it resolves.</p>
% if new_path:
<p><a class="button" href="{{url(new_path)}}">Protect a flag</a></p>
% end
</section>
% else:
% include("partials/table.tpl")
% end
