import Domain

/// A language that texts are written in: a row of ``sentences``. It is found by the lookup of RFC 4647 §3.4.
package struct TextLanguage: Sendable, Equatable {
    /// The tag (RFC 5646) in small letters: `de`, `zh-hant`.
    package let tag: String
    /// The sentence with the code and the app's name.
    let sentence: String

    /// The sentences by language. English is the policy's `text`, so it has none here. Those with an alphabet of GSM-7 avoid
    /// what it lacks, and the others are so short that one part of 70 characters holds them.
    static let sentences: [(tag: String, sentence: String)] = [
        ("de", "{app}: Ihr Code ist {code}. Geben Sie ihn nicht weiter."),
        ("fr", "{app}: Votre code est {code}. Ne le partagez pas."),
        ("es", "{app}: {code} es su clave. No la comparta."),
        ("pt", "{app}: {code} confirma o seu telefone. Nunca o envie a ninguém."),
        ("it", "{app}: Il tuo codice è {code}. Non condividerlo."),
        ("nl", "{app}: Uw code is {code}. Deel hem niet."),
        ("pl", "{app}: Kod: {code}. Nie podawaj go nikomu."),
        ("tr", "{app}: Kodunuz {code}. Kimseye vermeyin."),
        ("ru", "{app}: код {code}. Никому его не давайте."),
        ("uk", "{app}: код {code}. Нікому його не давайте."),
        ("ar", "{app}: رمزك هو {code}. لا تشاركه مع أحد."),
        ("hi", "{app}: आपका कोड {code} है। किसी को न दें।"),
        ("vi", "{app}: Mã {code}. Đừng cho ai biết."),
        ("zh-hans", "{app}：验证码 {code}，请勿告诉他人。"),
        ("zh-hant", "{app}：驗證碼 {code}，請勿告訴他人。"),
        ("ja", "{app}：認証コード {code}。他人に教えないでください。"),
        ("ko", "{app}: 인증번호 {code}. 타인에게 알리지 마세요."),
    ]

    /// Tags without a row of their own, and the row that is theirs: the script that a region writes in.
    private static let aliases = [
        "zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans", "zh-tw": "zh-hant", "zh-hk": "zh-hant",
        "zh-mo": "zh-hant",
    ]

    /// The languages of ``sentences``: all of them but English.
    static let all = sentences.map { TextLanguage(tag: $0.tag, sentence: $0.sentence) }

    private init(tag: String, sentence: String) {
        self.tag = tag
        self.sentence = sentence
    }
}

package extension TextLanguage {
    /// The language of a tag of ``all``; `nil` for another.
    init?(tag: String) {
        guard let found = Self.sentences.first(where: { $0.tag == tag }) else { return nil }
        self.init(tag: found.tag, sentence: found.sentence)
    }

    /// The first of a person's languages that texts are written in; `nil` for English, or if there is none.
    static func lookup(_ languages: LanguagePreferences) -> TextLanguage? {
        // English ends the search, too.
        let tag = languages.lookup { tag in
            let tag = aliases[tag] ?? tag
            return tag == "en" || sentences.contains { $0.tag == tag } ? tag : nil
        }
        return tag.flatMap { TextLanguage(tag: $0) }
    }

    /// Whether a policy's entry names one of the languages, and a sentence with one code.
    static func isSentence(_ entry: String) -> Bool {
        let parts = entry.split(separator: " ", maxSplits: 1)
        return parts.count == 2 && TextLanguage(tag: parts[0].lowercased()) != nil
            && parts[1].ranges(of: VerificationText.mark).count == 1
    }
}
