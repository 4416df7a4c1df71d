/// The page's HTML and style. The script is in ``PageScript``.
enum PageFiles {
    static let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8"><title>Forum</title>
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <link rel="icon" href="/avatar?user=Forum" type="image/svg+xml"><link rel="stylesheet" href="/forum.css">
        </head>
        <body>
        <a class="skip" href="#messages" id="skip">Skip to the messages</a>
        <header>
        <h1><a href="#">Forum</a></h1>
        <p id="status" role="status"></p>
        <p id="me" hidden><img id="my-avatar" alt="" width="28" height="28"><span id="my-name"></span>
        <button id="leave" type="button">Sign out</button></p>
        </header>
        <nav aria-label="Forums">
        <ul id="forums"></ul>
        <p id="no-forums" class="quiet" hidden>There are no forums yet.</p>
        <button id="older-forums" type="button" hidden>Older forums</button>
        </nav>
        <main id="main" tabindex="-1">
        <p id="hint" class="quiet">Choose a forum.</p>
        <article id="forum" hidden>
        <a id="back" href="#">All forums</a>
        <header>
        <img id="picture" alt="" width="72" height="72">
        <div><h2 id="title" tabindex="-1"></h2><p id="description"></p><p id="creator" class="by"></p></div>
        </header>
        <section aria-label="Members on line"><ul id="online"></ul></section>
        <button id="older" type="button" hidden>Older messages</button>
        <ol id="messages" role="log" aria-label="Messages" tabindex="-1"></ol>
        <p id="no-messages" class="quiet" hidden>There are no messages yet.</p>
        <form id="composer" hidden>
        <label for="text">Message or web link</label>
        <textarea id="text" rows="2" maxlength="4000" required></textarea>
        <button type="submit">Send</button>
        </form>
        <p id="read-only" class="quiet">Open this page from your app to write.</p>
        </article>
        </main>
        <script src="/forum.js"></script>
        </body>
        </html>
        """

    static let style = """
        :root {
            color-scheme: light dark; --ink: #1c1b22; --quiet: #5b5966; --paper: #f6f5fa; --card: #fff;
            --line: #dcd9e6; --accent: #5a3fb5; --own: #5a3fb5; --on-own: #fff; --bad: #a3222b;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --ink: #ece9f5; --quiet: #aaa5ba; --paper: #16141d; --card: #211e2b; --line: #3a3548;
                --accent: #b9a5ff; --own: #6a4fca; --bad: #ff9aa0;
            }
        }
        * { box-sizing: border-box }
        [hidden] { display: none !important }
        body {
            margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.45 system-ui, sans-serif;
            overflow-wrap: anywhere; min-height: 100vh; display: grid; grid-template-rows: auto 1fr;
        }
        a { color: var(--accent) }
        img { flex: none; border-radius: .5rem; background: var(--line); object-fit: cover }
        ul, ol { list-style: none; margin: 0; padding: 0 }
        p, h1, h2 { margin: 0 }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
        .quiet, time, .by { color: var(--quiet) }
        .skip { position: absolute; left: -100vw }
        .skip:focus { left: .5rem; top: .5rem; z-index: 2; background: var(--card); padding: .5rem }
        body > header {
            grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem;
            padding: .6rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); position: sticky; top: 0;
            z-index: 1; min-height: 3.8rem;
        }
        h1 { font-size: 1.25rem; margin-right: auto }
        h1 a { color: inherit; text-decoration: none }
        h2 { font-size: 1.3rem; line-height: 1.2 }
        #status { font-size: .9rem; color: var(--quiet) }
        #status.bad { color: var(--bad) }
        #me { display: flex; align-items: center; gap: .5rem; min-width: 0 }
        #me img, .by img, #online img, #messages img { border-radius: 50% }
        button, textarea { font: inherit; border-radius: .5rem }
        button {
            min-height: 2.5rem; padding: .3rem .9rem; border: 1px solid var(--line); background: var(--card);
            color: var(--accent); cursor: pointer;
        }
        nav, main { padding: .75rem 1rem; min-width: 0 }
        #forums a {
            display: flex; gap: .75rem; padding: .6rem; border-radius: .6rem; color: inherit; text-decoration: none;
        }
        #forums a:hover, #forums a[aria-current] { background: var(--card) }
        #forums a > span { min-width: 0; display: grid }
        #forums strong, #forums .about { overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical }
        #forums strong { -webkit-line-clamp: 2 }
        #forums .about { -webkit-line-clamp: 1; color: var(--quiet) }
        .by {
            display: grid; grid-template-columns: auto minmax(0, 1fr); align-items: center; gap: 0 .4rem;
            font-size: .85rem;
        }
        .by time { grid-column: 2 }
        article > header { display: flex; gap: 1rem; margin: .5rem 0 }
        article > header > div { min-width: 0; display: grid; gap: .25rem }
        #description { white-space: pre-wrap }
        #online { display: flex; flex-wrap: wrap; gap: .25rem .75rem; font-size: .9rem; min-height: 1.5rem }
        #online li { display: flex; align-items: center; gap: .3rem }
        #messages { display: grid; gap: .6rem; padding: .75rem 0 }
        #messages li { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; align-items: end }
        #messages li > div { display: grid; justify-items: start; gap: .15rem }
        #messages .text {
            background: var(--card); border: 1px solid var(--line); border-radius: .9rem; padding: .45rem .8rem;
            white-space: pre-wrap; max-width: min(100%, 40rem);
        }
        #messages .head { font-size: .85rem; display: flex; flex-wrap: wrap; gap: 0 .5rem }
        #messages .own { grid-template-columns: minmax(0, 1fr) }
        #messages .own img, #messages .own .head b { display: none }
        #messages .own > div { justify-items: end }
        #messages .own .text, #composer button {
            background: var(--own); border-color: var(--own); color: var(--on-own)
        }
        #messages .own .text a { color: inherit }
        #composer {
            position: sticky; bottom: 0; display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .4rem .6rem;
            padding: .6rem 0; background: var(--paper); align-items: end;
        }
        #composer label { grid-column: 1 / -1; font-size: .85rem; color: var(--quiet) }
        textarea {
            width: 100%; padding: .5rem .7rem; border: 1px solid var(--line); background: var(--card); color: inherit;
            resize: vertical;
        }
        @media (min-width: 800px) {
            body { grid-template-columns: minmax(18rem, 24rem) minmax(0, 1fr) }
            nav {
                border-right: 1px solid var(--line); max-height: calc(100vh - 3.8rem); overflow-y: auto;
                position: sticky; top: 3.8rem;
            }
            main { padding: 1rem 2rem; max-width: 60rem; width: 100% }
            #back { display: none }
        }
        @media (max-width: 799px) {
            body.reading nav { display: none }
            body:not(.reading) main { display: none }
        }
        """
}
