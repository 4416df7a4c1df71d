/// Texts that a credential may have as a name, and texts that it may not.
package enum CredentialNames {
    package static let honest = [
        "SAMPLE", "O'NEIL", "O\u{2019}Neil", "Garc\u{ED}a L\u{F3}pez", "E\u{301}va", "\u{645}\u{631}\u{64A}\u{645}",
        "\u{639}\u{644}\u{6CC}\u{200C}\u{631}\u{636}\u{627}", "\u{915}\u{94D}\u{200D}\u{937}",
        "\u{5E9}\u{5B8}\u{5C2}\u{5E8}\u{5B8}\u{5D4}", "\u{5C71}\u{7530}\u{3000}\u{592A}\u{90CE}", "\u{845B}\u{E0100}",
        "-", "", String(repeating: "\u{645}", count: 150),
    ]

    package static let refused = [
        "J\u{202E}ANE", "J\u{2066}ANE", "JA\u{0}NE", "JA\nNE", "JA\u{85}NE", "JA\u{9B}NE", "JANE\u{E0041}",
        "JA\u{200B}NE",
        "JANE\u{3164}", "JA\u{34F}NE", "JANE\u{FE0F}", "JANE\u{2800}", "JA\u{AD}NE", "\u{301}\u{302}", "\u{3164}",
        "\u{A0}",
        String(repeating: "J", count: 151), String(repeating: "J", count: 20_000),
    ]
}
