% form = get("time_form", "")
<time datetime="{{format_iso(at)}}" title="{{readable(at)}}" {{"data-form=" + form if form else ""}}>{{format_time(at, form)}}</time>
