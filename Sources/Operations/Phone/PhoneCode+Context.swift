import Domain

extension Service {
    /// The code of a verification for a number; `nil` if its key is missing. In development mode that of a test number is
    /// known, in no other.
    func phoneCode(
        version: Int, verification: PhoneVerificationID, user: UserID, device: DeviceID, e164: String
    ) -> PhoneCode? {
        let digits = policy[\.phones].digits
        let derived = keys.phoneCodes.code(
            version: version, verification: verification, user: user, device: device, e164: e164, digits: digits)
        guard development != nil else { return derived }
        return PhoneCode.ofTestNumber(e164, digits: digits) ?? derived
    }
}
