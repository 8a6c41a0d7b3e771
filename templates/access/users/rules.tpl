<details><summary>Rules for passwords</summary>
<ul>
% for rule in rules:
<li>{{rule}}</li>
% end
</ul>
</details>
