import Foundation

extension Data {
    /// base64url without padding (RFC 4648 §5).
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes base64 in either alphabet, with or without padding.
    init?(base64URL text: String) {
        let bare = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        self.init(base64Encoded: bare + String(repeating: "=", count: (4 - bare.utf8.count % 4) % 4))
    }
}
