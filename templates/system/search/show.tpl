% rebase("layout.tpl", title=title, live=False)
<h1>Search</h1>
<form method="get" class="inline" role="search">
<span><label for="q">Name of a flag, endpoint, action set, project, segment or page</label>
<input type="search" id="q" name="q" value="{{text}}" maxlength="200" autocomplete="off"></span>
<button class="quiet">Search</button>
</form>
<div id="results">
% if results:
<ul class="results">
% for kind, label, path in results:
<li><a href="{{url(path)}}"><bdi>{{label}}</bdi> <span class="muted">{{kind}}</span></a></li>
% end
</ul>
% else:
<p class="empty">Nothing has this name.</p>
% end
</div>
