% rebase("layout.tpl", title=title, live=False)
<h1>Guide</h1>
<p class="hint">The documentation of this version. · <a href="{{url('/docs')}}">API reference</a></p>
% for label, pages in groups:
<h2>{{label}}</h2>
<ul class="rows">
% for page in pages:
<li><a href="{{url(page.path)}}">{{page.title}}</a> <span class="muted">{{page.summary}}</span></li>
% end
</ul>
% end
