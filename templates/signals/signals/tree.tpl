<ul class="tree">
% for child in node.children:
<li>
% if child.children:
<details open>
<summary><code>{{child.key}}</code></summary>
% include("signals/signals/tree.tpl", node=child)
</details>
% elif child.is_value and child.path:
<code>{{child.key}}</code>: <a href="{{log_path}}?{{make_query(child)}}"><span class="hidden">Filter: {{child.path}} = </span><bdi>{{child.text or '""'}}</bdi></a>
% if child.text.startswith(("https://", "http://")):
<a href="{{child.text}}" rel="noopener noreferrer">Open ↗<span class="hidden"> {{child.text}}</span></a>
% end
% else:
<code>{{child.key}}</code> <bdi>{{child.text}}</bdi>
% end
</li>
% end
</ul>
