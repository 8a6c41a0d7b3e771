% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
% for index, (name, text) in enumerate(schemas.items()):
% if index:
<h2 id="{{name}}">{{name}}</h2>
% end
<pre tabindex="0"><code>{{text}}</code></pre>
% end
