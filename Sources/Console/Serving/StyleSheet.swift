import HTTPTypes

/// The style sheet of all pages, from memory. It has system fonts and no image. Light and dark follow the browser's
/// setting. Every width from 320 px on and paper have rules of their own.
enum StyleSheet {
    static let path = "/console.css"

    static var reply: Console.Reply {
        var fields = PageHeaders.fields
        fields[.contentType] = "text/css; charset=utf-8"
        return (HTTPResponse(status: .ok, headerFields: fields), text.withUTF8Buffer { Array($0) }, path, nil, nil)
    }

    private static let text: StaticString = """
        :root {
          color-scheme: light dark;
          --ground: #ffffff; --panel: #f3f4f7; --text: #1a1b1f; --quiet: #53555d; --line: #c5c7cf;
          --link: #0b50c4; --danger: #a8201a; --on-danger: #ffffff; --bar: #2f6fd8; --warn: #8a4b00;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #15161a; --panel: #202228; --text: #e7e8ec; --quiet: #abaeb8; --line: #474a54;
            --link: #93b8fb; --danger: #f5aaa4; --on-danger: #2a0705; --bar: #7aa7f5; --warn: #f3c07a;
          }
        }
        *, *::before, *::after { box-sizing: border-box; }
        html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        body {
          margin: 0 auto; padding: 0 1rem 2rem; max-width: 80rem;
          background: var(--ground); color: var(--text); overflow-wrap: break-word;
        }
        a { color: var(--link); text-underline-offset: .15em; }
        a:hover { text-decoration-thickness: .15em; }
        :focus-visible { outline: .2rem solid var(--link); outline-offset: .15rem; border-radius: .15rem; }
        main:focus { outline: none; }
        .skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--ground); }
        .skip:focus { left: .5rem; top: .5rem; z-index: 1; }

        header { border-bottom: 1px solid var(--line); padding: .75rem 0; }
        header p { margin: 0 0 .5rem; max-width: none; color: var(--quiet); font-size: .875rem; }
        nav ul, nav ol {
          display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0; max-width: none; list-style: none;
        }
        nav li { min-width: 0; overflow-wrap: anywhere; }
        nav a { display: inline-block; padding: .25rem 0; min-height: 1.75rem; }
        header + nav { padding: .5rem 0; font-size: .875rem; }
        header + nav ol { display: block; }
        header + nav li { display: inline; }
        header + nav li + li::before { content: "/"; padding: 0 .5rem 0 .25rem; color: var(--quiet); }
        main nav { margin: 1rem 0; }
        footer { margin-top: 2rem; padding-top: .5rem; border-top: 1px solid var(--line); }
        footer p { margin: 0; color: var(--quiet); font-size: .875rem; }

        h1 { font-size: 1.625rem; line-height: 1.25; margin: 1rem 0; }
        h2 { font-size: 1.25rem; line-height: 1.3; margin: 2rem 0 .5rem; }
        h3 { font-size: 1.0625rem; margin: 1.5rem 0 .5rem; }
        p, ul, ol, dl { max-width: 48rem; }
        dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1rem; margin: .5rem 0; }
        dt { color: var(--quiet); }
        dd { margin: 0; min-width: 0; }
        code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9375em; }
        pre { overflow-x: auto; padding: .75rem; background: var(--panel); }
        details { margin: .75rem 0; }
        summary { cursor: pointer; padding: .25rem 0; }
        strong { color: var(--warn); }
        bdi { unicode-bidi: isolate; }

        .scroll { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: .25rem; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        caption {
          /* The text stays in sight where the table is wider than the window. */
          padding: .5rem max(.75rem, 100% - 100vw + 3rem) .5rem .75rem;
          text-align: start; font-weight: 600; background: var(--panel);
        }
        th, td { padding: .4rem .75rem; border-top: 1px solid var(--line); text-align: start; vertical-align: top; }
        thead th { color: var(--quiet); font-size: .875rem; white-space: nowrap; }
        tbody th { font-weight: 500; min-width: 6rem; max-width: 18rem; overflow-wrap: break-word; }
        td { min-width: 4rem; max-width: 18rem; overflow-wrap: break-word; }
        td ul { margin: 0; min-width: 12rem; padding-inline-start: 1.125rem; }

        form {
          margin: 1rem 0; padding: 1rem; max-width: 40rem;
          border: 1px solid var(--line); border-radius: .25rem; background: var(--panel);
        }
        form p { margin: 0 0 1rem; }
        label { font-weight: 500; }
        .hint { display: block; color: var(--quiet); font-size: .875rem; }
        input[type="text"], input[type="search"], select, textarea {
          display: block; width: 100%; margin-top: .25rem; padding: .4rem .5rem; font: inherit;
          color: var(--text); background: var(--ground); border: 1px solid var(--quiet); border-radius: .25rem;
        }
        input[type="checkbox"] { width: 1.25rem; height: 1.25rem; margin: 0 .5rem 0 0; vertical-align: -.25rem; }
        button {
          min-height: 2.5rem; padding: .4rem 1.25rem; font: inherit; font-weight: 600; cursor: pointer;
          color: var(--ground); background: var(--link); border: 2px solid transparent; border-radius: .25rem;
        }
        button.dangerous { color: var(--on-danger); background: var(--danger); }
        button:hover { filter: brightness(1.1); }

        .chips { display: flex; flex-wrap: wrap; gap: .25rem .5rem; margin: .5rem 0; padding: 0; list-style: none; }
        .chips li { padding: .1rem .6rem; border: 1px solid var(--quiet); border-radius: 1rem; font-size: .875rem; }
        .columns {
          display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem 2rem;
          align-items: start; margin: 1rem 0;
        }
        .columns > * { min-width: 0; margin: 0; }
        .notice { padding: .75rem 1rem; border-inline-start: .3rem solid var(--warn); background: var(--panel); }
        .notice > :first-child { margin-top: 0; }
        .notice > :last-child { margin-bottom: 0; }

        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; }
        figure { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .25rem; min-width: 0; }
        figcaption { font-size: .875rem; margin-bottom: .5rem; }
        figure svg { display: block; width: 100%; height: 6rem; }
        .bar { fill: var(--bar); }
        .bar:hover { fill: var(--text); }
        .axis { stroke: var(--quiet); stroke-width: 1; vector-effect: non-scaling-stroke; }
        .ends {
          display: flex; justify-content: space-between; max-width: none; margin: .25rem 0 0;
          color: var(--quiet); font-size: .8125rem;
        }
        figure details { margin: .25rem 0 0; font-size: .875rem; }
        figure thead th { white-space: normal; }
        figure tbody th, figure td { min-width: 3rem; }

        @media (max-width: 30rem) {
          body { padding: 0 .75rem 1.5rem; }
          h1 { font-size: 1.375rem; }
          caption { padding: .4rem max(.5rem, 100% - 100vw + 2rem) .4rem .5rem; }
          th, td { padding: .4rem .5rem; }
          tbody th, td { max-width: 14rem; }
          td { min-width: 7rem; }
          dl { grid-template-columns: 1fr; gap: 0; }
          dd { margin-bottom: .5rem; }
          button { width: 100%; }
        }
        @media (prefers-reduced-motion: no-preference) {
          a, button, .bar { transition: filter .1s, fill .1s; }
        }
        @media (forced-colors: active) {
          .bar { fill: CanvasText; }
          .axis { stroke: CanvasText; }
          button, .chips li { border: 2px solid ButtonText; }
          strong { color: CanvasText; text-decoration: underline; }
        }
        @media print {
          :root { --ground: #fff; --panel: #fff; --text: #000; --quiet: #333; --link: #000; --bar: #333; --warn: #000; }
          body { max-width: none; padding: 0; font-size: 10pt; }
          header nav, .skip, form, main nav, summary { display: none; }
          .scroll { overflow: visible; border: 0; }
          tr, figure { break-inside: avoid; }
          thead { display: table-header-group; }
        }
        """
}
