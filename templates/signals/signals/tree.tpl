<ul class="tree">
% for child in node.children:
<li>
% if child.children:
<details open>
<summary><code>{{child.key}}</code></summary>
% include("signals/signals/tree.tpl", node=child)
</details>
% elif child.is_value and child.path:
<code>{{child.key}}</code>: \\
% include("signals/signals/value.tpl", text=child.text)
 <a class="find" href="{{log_path}}?{{make_query(child)}}" title="Signals with this value">\\
% include("partials/icon.tpl", name="search")
<span class="hidden">Filter: {{child.path}} = {{child.text}}</span></a>
% else:
<code>{{child.key}}</code>: \\
% include("signals/signals/value.tpl", text=child.text)
% end
</li>
% end
</ul>
