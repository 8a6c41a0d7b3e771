% include("partials/datalist.tpl", id="context-fields", choices=values)
